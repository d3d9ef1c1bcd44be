#!/bin/sh
# What the primary of compose.yaml is told when it is made: who may copy it, and that an answered write
# is on the standby as well. The setting counts from the next start, which comes right after this.
set -eu
echo "host replication keystile samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
  -c "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
