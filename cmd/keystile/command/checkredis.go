package command

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/internal/resp"
)

// redisBound limits how long a node waits for Redis before it judges by its share of a limit.
const redisBound = 50 * time.Millisecond

// redisPatience limits how long a check waits for it.
const redisPatience = 5 * time.Second

// counting judges the Redis on which nodes count together.
func (k *checkup) counting(ctx context.Context) {
	const name = "redis"
	if k.conf.RedisURL.IsZero() {
		if k.nodes > 1 {
			k.add(name, admin.Noted, fmt.Sprintf("there is no redis_url: each of %d nodes counts by itself, so all together "+
				"let through so many times each limit, and a lock holds at one of them", k.nodes),
				"redis_url, the same at every node")
		}
		return
	}
	target, err := resp.Parse(k.conf.RedisURL.Reveal())
	if err != nil {
		k.add(name, admin.Unknown, "redis_url is none that can be looked at: "+err.Error(),
			"see that it is like redis://host:6379")
		return
	}
	if target.MasterSet != "" {
		k.add(name, admin.Unknown, "redis_url names sentinels, and the master that they name is not looked at",
			"try the address of the master itself as redis_url")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, redisPatience)
	defer cancel()
	r, err := resp.Dial(ctx, target, target.Addresses[0], redisPatience)
	if err == nil {
		defer r.Close()
		err = k.redis(r, target)
	}
	if err != nil {
		k.add(name, admin.Unsafe,
			fmt.Sprintf("Redis does not answer as it should: %v; each node keeps its share of the limits", err),
			"start it, or mend redis_url")
	}
}

func (k *checkup) redis(r *resp.Conn, target resp.Target) error {
	by, best, ahead := time.Now().Add(redisPatience), time.Hour, time.Duration(0)
	for range 10 {
		began := time.Now()
		answer, err := r.Do(by, "TIME")
		if err != nil {
			return err
		}
		words, err := answer.Strings()
		if err != nil {
			return err
		}
		if took := time.Since(began); took < best && len(words) == 2 {
			seconds, _ := strconv.ParseInt(words[0], 10, 64)
			micros, _ := strconv.ParseInt(words[1], 10, 64)
			best, ahead = took, time.Unix(seconds, micros*1000).Sub(began.Add(took/2))
		}
	}
	answer, err := r.Do(by, "INFO", "server")
	if err != nil {
		return err
	}
	k.found = append(k.found, judgeRedis(answer.Text, best), judgeRedisClock(ahead), judgeRedisWay(target))
	answer, _ = r.Do(by, "CONFIG", "GET", "maxmemory-policy")
	switch policy, err := answer.Strings(); {
	case err != nil || len(policy) < 2:
		k.add("redis_memory", admin.Unknown, "Redis does not tell its maxmemory-policy (a managed one may not)",
			"see that it is noeviction")
	case strings.HasPrefix(policy[1], "allkeys-"), strings.HasPrefix(policy[1], "volatile-"):
		k.add("redis_memory", admin.Unsafe, "maxmemory-policy is "+policy[1]+": a full Redis drops counts, and with them "+
			"limits and locks", "CONFIG SET maxmemory-policy noeviction")
	default:
		k.add("redis_memory", admin.Safe, "maxmemory-policy is "+policy[1], "")
	}
	return nil
}

func judgeRedis(info string, took time.Duration) admin.Finding {
	version := ""
	for line := range strings.SplitSeq(info, "\r\n") {
		if v, is := strings.CutPrefix(line, "redis_version:"); is {
			version = v
		}
	}
	major, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(major)
	says := fmt.Sprintf("Redis %s answers in %s", version, took.Round(10*time.Microsecond))
	switch {
	case n < 7:
		return admin.Finding{Name: "redis", State: admin.Unsafe, Says: says + ", and version 7 or newer is needed",
			Do: "a newer one, or Valkey"}
	case took > redisBound:
		return admin.Finding{Name: "redis", State: admin.Unsafe,
			Says: fmt.Sprintf("%s, and nodes wait for %s: they count by themselves, each its share", says, redisBound),
			Do:   "one that is nearer, or has less to do"}
	case took > redisBound/5:
		return admin.Finding{Name: "redis", State: admin.Noted, Says: says + ", which each request waits for",
			Do: "one that is nearer, or has less to do"}
	}
	return admin.Finding{Name: "redis", State: admin.Safe, Says: says}
}

func judgeRedisClock(ahead time.Duration) admin.Finding {
	says := fmt.Sprintf("the clocks of this machine and of Redis are %s apart", ahead.Abs().Round(time.Millisecond))
	if ahead.Abs() > maxClockAhead {
		return admin.Finding{Name: "redis_clock", State: admin.Noted,
			Says: says + ": windows go by its clock, and a failover to another one moves them", Do: "set both by NTP"}
	}
	return admin.Finding{Name: "redis_clock", State: admin.Safe, Says: says}
}

func judgeRedisWay(target resp.Target) admin.Finding {
	host, _, err := net.SplitHostPort(target.Addresses[0])
	if err == nil && target.TLS == nil && !localName(host) {
		return admin.Finding{Name: "redis_tls", State: admin.Noted,
			Says: "the way to Redis is not encrypted: who can listen on it reads addresses and its password",
			Do:   "rediss://, or a network of its own"}
	}
	return admin.Finding{Name: "redis_tls", State: admin.Safe,
		Says: "the way to Redis is encrypted, or does not leave this machine"}
}
