#!/usr/bin/env bash
# Usage: verify.sh <timestamp header> <signature header> < body.json
# WEBHOOK_SECRET is the subscription's signing secret, whole: whsec_…
: "${WEBHOOK_SECRET:?is not set}"
timestamp=$1 signatures=$2
# Arithmetic would run a command that stands in it.
case $timestamp in '' | 0* | *[!0-9]*) echo "no timestamp"; exit 1 ;; esac
age=$(($(date +%s) - timestamp))
[ "${age#-}" -le 300 ] || { echo "too old"; exit 1; }
# The bytes of the body exactly as they came; $(cat) would drop a line break at their end.
expected="sha256=$({ printf '%s.' "$timestamp"; cat; } \
  | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)"
# While a secret is being renewed there are two signatures, with a comma between them.
case ",$signatures," in
  *",$expected,"*) echo "genuine" ;;
  *) echo "not genuine"; exit 1 ;;
esac
