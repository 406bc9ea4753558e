; makensis -DVERSION=0.1.0 -DBUNDLE=…\scriptorium -DOUTFILE=setup.exe packaging\desktop\windows\scriptorium.nsi
; For one user, without administrator rights. Uninstalling keeps notes, settings and data.
Unicode true
SetCompressor /SOLID lzma
!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!define NAME "Scriptorium"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"
!define MENU "Software\Classes\Directory\shell\${NAME}"
!define INSIDE "Software\Classes\Directory\Background\shell\${NAME}"
Name "${NAME} ${VERSION}"
OutFile "${OUTFILE}"
RequestExecutionLevel user
ManifestDPIAware true
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "Software\${NAME}" "InstallDir"
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} installer"
VIAddVersionKey "LegalCopyright" "MIT License"
!define MUI_ICON "..\icons\scriptorium.ico"
!define MUI_UNICON "..\icons\scriptorium.ico"
!insertmacro MUI_PAGE_LICENSE "..\..\..\LICENSE"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\Scriptorium.exe"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; The files of a running program are neither replaced nor removed.
!macro WAIT_UNTIL_CLOSED
  ${Do}
    ClearErrors
    ${If} ${FileExists} "$INSTDIR\Scriptorium.exe"
      FileOpen $0 "$INSTDIR\Scriptorium.exe" a
      ${IfNot} ${Errors}
        FileClose $0
      ${EndIf}
    ${EndIf}
    ${IfNot} ${Errors}
      ${ExitDo}
    ${EndIf}
    MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION \
      "${NAME} is running. Close it, then retry. Nothing has been changed." /SD IDCANCEL IDRETRY +2
    Abort
  ${Loop}
!macroend

Section
  !insertmacro WAIT_UNTIL_CLOSED
  ; Libraries of an older version must not stay next to the new ones.
  RMDir /r "$INSTDIR\_internal"
  SetOutPath "$INSTDIR"
  File /r "${BUNDLE}\*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\Scriptorium.exe"
  WriteRegStr HKCU "Software\${NAME}" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "${MENU}" "" "Open as vault"
  WriteRegStr HKCU "${MENU}" "Icon" "$INSTDIR\Scriptorium.exe"
  WriteRegStr HKCU "${MENU}\command" "" '"$INSTDIR\Scriptorium.exe" open "%1"'
  WriteRegStr HKCU "${INSIDE}" "" "Open as vault"
  WriteRegStr HKCU "${INSIDE}" "Icon" "$INSTDIR\Scriptorium.exe"
  WriteRegStr HKCU "${INSIDE}\command" "" '"$INSTDIR\Scriptorium.exe" open "%V"'
  WriteRegStr HKCU "${KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\Scriptorium.exe"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" $0
SectionEnd

Section "Uninstall"
  !insertmacro WAIT_UNTIL_CLOSED
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\Scriptorium.exe"
  Delete "$INSTDIR\scriptorium-cli.exe"
  Delete "$INSTDIR\uninstall.exe"
  ; Only if it is empty: other files in it are not ours.
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegKey HKCU "${MENU}"
  DeleteRegKey HKCU "${INSIDE}"
  DeleteRegKey HKCU "${KEY}"
  DeleteRegKey HKCU "Software\${NAME}"
SectionEnd
