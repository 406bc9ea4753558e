# sign.ps1 FILE…  signs programs with the certificate in CERTIFICATE (base64 of a .pfx file) and PASSWORD.
param([Parameter(Mandatory, ValueFromRemainingArguments)][string[]]$Files)
$ErrorActionPreference = "Stop"
$certificate = Join-Path ([IO.Path]::GetTempPath()) "certificate.pfx"
try {
    [IO.File]::WriteAllBytes($certificate, [Convert]::FromBase64String($env:CERTIFICATE))
    $signtool = Get-ChildItem "${env:ProgramFiles(x86)}\Windows Kits\10\bin\*\x64\signtool.exe" |
        Sort-Object FullName | Select-Object -Last 1
    & $signtool.FullName sign /fd SHA256 /td SHA256 /tr http://timestamp.digicert.com `
        /f $certificate /p $env:PASSWORD $Files
    if ($LASTEXITCODE) { throw "signtool ended with $LASTEXITCODE" }
}
finally {
    Remove-Item -Force -ErrorAction SilentlyContinue $certificate
}
