#!/bin/sh
# openssl-sign.sh KEYFILE [PASSPHRASE]: the message comes on standard input, the raw signature goes to standard output.
# PASSPHRASE opens an encrypted key, written as openssl's -passin takes it: file:FILE or env:NAME.
# Relative names are looked for beside this script.
cd "$(dirname "$0")" || exit 1
key=$1 passphrase=${2:-pass:}
case "$PATCHLINE_SCHEME" in
    rsassa-pss-sha256)
        exec openssl dgst -sha256 -sign "$key" -passin "$passphrase" \
            -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -sigopt rsa_mgf1_md:sha256 ;;
    rsa-pkcs1v15-sha256 | ecdsa-sha2-nistp256) exec openssl dgst -sha256 -sign "$key" -passin "$passphrase" ;;
    rsa-pkcs1v15-bare) exec openssl pkeyutl -sign -inkey "$key" -passin "$passphrase" ;;
    ed25519) exec openssl pkeyutl -sign -rawin -inkey "$key" -passin "$passphrase" -in /dev/stdin ;;
    *) echo "openssl-sign.sh: cannot sign by '$PATCHLINE_SCHEME'" >&2; exit 64 ;;
esac
