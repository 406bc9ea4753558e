#!/bin/sh
# sign.sh keychain            imports the certificate into a separate keychain
# sign.sh application APP     signs every file of the application
# sign.sh notarize FILE       has Apple notarize a signed disk image, and staples the ticket
#
# MACOS_CERTIFICATE (base64 of a .p12 file), MACOS_CERTIFICATE_PASSWORD, CODESIGN_IDENTITY and, to notarize,
# NOTARY_APPLE_ID, NOTARY_PASSWORD and NOTARY_TEAM come from the environment. Steps without their variables are skipped: the
# application then has only the ad-hoc signature that PyInstaller gives.
set -eu
here=$(dirname "$0")

case "$1" in
keychain)
    if [ -z "${MACOS_CERTIFICATE:-}" ]; then
        echo "no certificate: the application is not signed"
        exit 0
    fi
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    password=$(openssl rand -base64 24)
    keychain="$HOME/Library/Keychains/scriptorium-release.keychain-db"
    printf %s "$MACOS_CERTIFICATE" | base64 --decode >"$folder/certificate.p12"
    security create-keychain -p "$password" "$keychain"
    security set-keychain-settings -lut 3600 "$keychain"
    security unlock-keychain -p "$password" "$keychain"
    security import "$folder/certificate.p12" -k "$keychain" -P "$MACOS_CERTIFICATE_PASSWORD" -T /usr/bin/codesign
    security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" >/dev/null
    security list-keychains -d user -s "$keychain" login.keychain-db
    ;;
application)
    if [ -z "${CODESIGN_IDENTITY:-}" ]; then
        echo "no identity: $2 is not signed"
        exit 0
    fi
    # From the inside out: a signature covers the signatures in it.
    find "$2/Contents" -type f \( -name '*.so' -o -name '*.dylib' \) -print0 |
        xargs -0 codesign --force --timestamp --options runtime --sign "$CODESIGN_IDENTITY"
    find "$2/Contents" -type d -name '*.framework' -print0 |
        xargs -0 -n 1 codesign --force --timestamp --options runtime --sign "$CODESIGN_IDENTITY"
    codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" \
        --sign "$CODESIGN_IDENTITY" "$2"
    codesign --verify --deep --strict --verbose=2 "$2"
    ;;
notarize)
    if [ -z "${NOTARY_APPLE_ID:-}" ] || [ -z "${CODESIGN_IDENTITY:-}" ]; then
        echo "no account: $2 is not notarized"
        exit 0
    fi
    codesign --force --timestamp --sign "$CODESIGN_IDENTITY" "$2"
    xcrun notarytool submit "$2" --wait \
        --apple-id "$NOTARY_APPLE_ID" --password "$NOTARY_PASSWORD" --team-id "$NOTARY_TEAM"
    xcrun stapler staple "$2"
    ;;
*)
    echo "unknown step: $1" >&2
    exit 2
    ;;
esac
