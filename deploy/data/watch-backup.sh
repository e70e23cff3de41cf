#!/usr/bin/env bash
# Tells node exporter how old the newest dump in $BACKUP is, and until when the copy of the binary log was complete: it has what MySQL had
# written at the run before.
set -eu
cd "$BACKUP"
[ -e .copied ] || touch .copied
if [ -e .written ]; then
  read -r log position < .written
  size=$(stat --format=%s "$log" 2>/dev/null || echo 0)
  last=$(ls | grep '^binlog\.[0-9]*$' | tail -n 1)
  if [ "$size" -ge "$position" ] || [[ "$last" > "$log" ]]; then touch .copied; fi
fi
status=$(mysql -NBe 'SHOW BINARY LOG STATUS')
echo "$status" | cut -f 1,2 > .written
newest=$(ls | grep '\.sql\.gz$' | tail -n 1)
{
  [ -z "$newest" ] || echo "causeway_backup_timestamp_seconds $(stat --format=%Y "$newest")"
  echo "causeway_binlog_copied_timestamp_seconds $(stat --format=%Y .copied)"
} > .prom && mv .prom causeway.prom
