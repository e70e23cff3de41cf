#!/usr/bin/env bash
# Causeway on one machine, by compose.yaml: install | backup | restore MOMENT | upgrade | rollback | rotate. See README.md.
set -euo pipefail
cd "${DEPLOY:-$(dirname "$0")}"
umask 077

services='access crm webhooks dispatcher agents gateway'
users='access crm webhooks dispatcher monitor'
nats_users='operator gateway access crm webhooks dispatcher'

random() { openssl rand -hex 24; }
upper() { tr '[:lower:]' '[:upper:]'; }
# Runs a script in MySQL's container, where the folder of backups is /backup.
inside() { docker compose exec -T --env MOMENT="${MOMENT:-}" mysql bash -euo pipefail -c "
  export MYSQL_PWD=\"\$MYSQL_ROOT_PASSWORD\"
  cd \"\${BACKUP:-/backup}\"
  $1"; }
put() { sed -i "/^$1=/d" .env && echo "$1=$2" >> .env; }
start() { docker compose up --detach "$@"; }

install() {
  touch .env
  for name in MYSQL_ROOT_PASSWORD MYSQL_PASSWORD $(for user in $users; do echo "MYSQL_PASSWORD_$user" | upper; done) \
    $(for user in $nats_users; do echo "NATS_PASSWORD_$user NATS_PASSWORD_${user}_NEXT" | upper; done); do
    grep -q "^$name=" .env || put "$name" "$(random)"
  done
  for name in WEBHOOKS_SECRET_KEYS PORTAL_SECRET_KEYS; do
    grep -q "^$name=" .env || put "$name" "first:$(openssl rand -base64 32)"
  done
  mkdir -p tls backup
  [ -e tls/nats.crt ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=nats \
    -addext subjectAltName=DNS:nats -keyout tls/nats.key -out tls/nats.crt 2> /dev/null
  chmod 644 tls/nats.crt
  docker compose build
  start
}

# A dump a day, and the binary log up to now: run it by cron every hour, and copy the folder to another machine.
backup() {
  inside '
    today=$(date -u +%Y%m%d)
    if ! ls | grep -q "^$today.*\.sql\.gz$"; then
      file="$(date -u +%Y%m%dT%H%M%SZ).sql.gz"
      mysqldump --user=root --single-transaction --source-data=2 --set-gtid-purged=OFF --hex-blob \
        --no-tablespaces --loose-skip-masking-policies causeway | gzip > "$file.part"
      mv "$file.part" "$file"
    fi
    mysql --user=root --execute="FLUSH BINARY LOGS"
    folder=$(mysql --user=root -NBe "SELECT @@datadir")
    mysql --user=root -NBe "SHOW BINARY LOGS" | cut -f 1 | sed \$d | while read -r log; do
      [ -e "$log" ] || { cp "$folder/$log" "$log.part" && mv "$log.part" "$log"; }
    done
    # Before the oldest dump that is kept, the log is of no use.
    ls | grep "\.sql\.gz$" | head -n -7 | xargs -r rm
    find . -name "binlog.*" -mtime +8 -delete
    newest=$(ls | grep "\.sql\.gz$" | tail -n 1)
    echo "causeway_backup_timestamp_seconds $(stat --format=%Y "$newest")" > "${METRICS:-/metrics}/backup.prom"'
}

# What was committed before the moment, in UTC: restore "2026-03-01 09:30:00"
restore() {
  MOMENT=${1:?a moment in UTC is needed, such as "2026-03-01 09:30:00"}
  inside 'mysqlbinlog --version > /dev/null'
  backup || echo 'the latest changes could not be copied' >&2
  docker compose stop $services
  inside '
    before="$(echo "$MOMENT" | tr -d ":-" | tr " " T)Z.sql.gz"
    dump=$(ls | grep "\.sql\.gz$" | awk -v before="$before" "\$0 < before" | tail -n 1)
    [ -n "$dump" ] || { echo "there is no backup before $MOMENT" >&2; exit 1; }
    read -r log position < <(zcat "$dump" | sed -n "s/^-- CHANGE .*LOG_FILE=.\(binlog\.[0-9]*\)., .*LOG_POS=\([0-9]*\);/\1 \2/p;/^CREATE/q")
    logs=$(ls | grep "^binlog\.[0-9]*$" | sed -n "/^$log\$/,\$p")
    mysql --user=root --execute="DROP DATABASE IF EXISTS causeway; CREATE DATABASE causeway CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"
    zcat "$dump" | mysql --user=root causeway
    TZ=UTC mysqlbinlog --skip-gtids --start-position="$position" --stop-datetime="$MOMENT" $logs | mysql --user=root --binary-mode
    # The next restore begins with a dump of what was restored.
    folder="until-${before%.sql.gz}"
    mkdir -p "$folder"
    mv *.sql.gz binlog.* "$folder"
    mysql --user=root --execute="GRANT PROCESS ON *.* TO causeway"'
  docker compose run --rm migrate deploy/migrate/main.ts
  docker compose run --rm migrate deploy/data/restored/main.ts
  backup
  start
}

# To the release that is checked out; `rollback` returns to the one before.
upgrade() {
  backup
  docker tag causeway/services:local causeway/services:before
  docker compose build
  start
}

rollback() { CAUSEWAY_VERSION=before start --no-deps $services; }

# New passwords of MySQL's and NATS's users, with seconds of interruption.
rotate() {
  for user in access crm webhooks dispatcher; do
    fresh=$(random)
    inside "mysql --user=root --execute=\"ALTER USER causeway_$user@'%' IDENTIFIED BY '$fresh' RETAIN CURRENT PASSWORD\""
    put "$(echo "MYSQL_PASSWORD_$user" | upper)" "$fresh"
  done
  for user in $nats_users; do put "$(echo "NATS_PASSWORD_$user" | upper)" "$(random)"; done
  start
  for user in access crm webhooks dispatcher; do
    inside "mysql --user=root --execute=\"ALTER USER causeway_$user@'%' DISCARD OLD PASSWORD\""
  done
}

case ${1:-} in
  install | backup | restore | upgrade | rollback | rotate) "$@" ;;
  *) sed -n 2p "$0" >&2; exit 2 ;;
esac
