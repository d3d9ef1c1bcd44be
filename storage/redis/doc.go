// Package redis counts requests, failures and attempts for several nodes together, on Redis 7 or Valkey.
package redis
