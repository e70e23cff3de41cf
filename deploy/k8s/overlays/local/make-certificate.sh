#!/bin/sh
# Makes the certificate of NATS for a cluster on one machine, in the folder `nats-tls` beside this file.
# A private key in a repository is everybody's, so each machine makes its own; an existing one stays.
set -eu
cd "$(dirname "$0")"
mkdir -p nats-tls
[ -f nats-tls/tls.key ] && exit 0
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=nats of a local cluster' \
  -addext subjectAltName=DNS:nats-0.nats,DNS:nats-1.nats,DNS:nats-2.nats \
  -keyout nats-tls/tls.key -out nats-tls/tls.crt
