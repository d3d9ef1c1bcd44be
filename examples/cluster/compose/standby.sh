#!/bin/sh
# Makes the standby of compose.yaml a copy of the primary, once, and runs it.
set -eu
PGDATA=/var/lib/postgresql/data/pgdata
export PGDATA
PATH=$PATH:/usr/lib/postgresql/17/bin
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  rm -rf "$PGDATA"
  pg_basebackup -R -X stream -D "$PGDATA" -d "host=postgres user=keystile password=$PGPASSWORD application_name=standby"
  chmod 700 "$PGDATA"
fi
exec postgres
