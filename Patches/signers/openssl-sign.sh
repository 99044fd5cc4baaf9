#!/bin/sh
# openssl-sign.sh KEYFILE: the message comes on standard input, the raw signature goes to standard output.
cd "$(dirname "$0")" || exit 1
case "$PATCHLINE_SCHEME" in
    rsassa-pss-sha256)
        exec openssl dgst -sha256 -sign "$1" -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -sigopt rsa_mgf1_md:sha256 ;;
    rsa-pkcs1v15-sha256 | ecdsa-sha2-nistp256) exec openssl dgst -sha256 -sign "$1" ;;
    rsa-pkcs1v15-bare) exec openssl pkeyutl -sign -inkey "$1" ;;
    ed25519) exec openssl pkeyutl -sign -rawin -inkey "$1" -in /dev/stdin ;;
    *) echo "openssl-sign.sh: cannot sign by '$PATCHLINE_SCHEME'" >&2; exit 64 ;;
esac
