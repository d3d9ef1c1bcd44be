package command

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/admin"
)

// redisBound limits how long a node waits for Redis before it judges by its share of a limit.
const redisBound = 50 * time.Millisecond

// counting judges the Redis on which nodes count together.
func (k *checkup) counting(ctx context.Context) {
	const name = "redis"
	if k.conf.RedisURL.IsZero() {
		if k.nodes > 1 {
			k.add(name, admin.Noted, fmt.Sprintf("there is no redis_url: each of %d nodes counts by itself, so all together let through so many times each limit, and a lock holds at one of them", k.nodes), "redis_url, the same at every node")
		}
		return
	}
	u, err := url.Parse(k.conf.RedisURL.Reveal())
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" {
		k.add(name, admin.Unknown, "redis_url is none that can be looked at", "see that it is like redis://host:6379")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := dialRedis(ctx, u)
	if err == nil {
		defer r.Close()
		err = k.redis(r, u)
	}
	if err != nil {
		k.add(name, admin.Unsafe, fmt.Sprintf("Redis does not answer as it should: %v; each node keeps its share of the limits", err), "start it, or mend redis_url")
	}
}

func (k *checkup) redis(r *redisConn, u *url.URL) error {
	best, ahead := time.Hour, time.Duration(0)
	for range 10 {
		began := time.Now()
		words, err := r.ask("TIME")
		if err != nil {
			return err
		}
		if took := time.Since(began); took < best && len(words) == 2 {
			seconds, _ := strconv.ParseInt(words[0], 10, 64)
			micros, _ := strconv.ParseInt(words[1], 10, 64)
			best, ahead = took, time.Unix(seconds, micros*1000).Sub(began.Add(took/2))
		}
	}
	info, err := r.ask("INFO", "server")
	if err != nil {
		return err
	}
	k.found = append(k.found, judgeRedis(strings.Join(info, ""), best), judgeRedisClock(ahead), judgeRedisWay(u))
	switch policy, err := r.ask("CONFIG", "GET", "maxmemory-policy"); {
	case err != nil || len(policy) < 2:
		k.add("redis_memory", admin.Unknown, "Redis does not tell its maxmemory-policy (a managed one may not)", "see that it is noeviction")
	case strings.HasPrefix(policy[1], "allkeys-"), strings.HasPrefix(policy[1], "volatile-"):
		k.add("redis_memory", admin.Unsafe, "maxmemory-policy is "+policy[1]+": a full Redis drops counts, and with them limits and locks", "CONFIG SET maxmemory-policy noeviction")
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
		return admin.Finding{Name: "redis", State: admin.Unsafe, Says: says + ", and version 7 or newer is needed", Do: "a newer one, or Valkey"}
	case took > redisBound:
		return admin.Finding{Name: "redis", State: admin.Unsafe, Says: fmt.Sprintf("%s, and nodes wait for %s: they count by themselves, each its share", says, redisBound), Do: "one that is nearer, or has less to do"}
	case took > redisBound/5:
		return admin.Finding{Name: "redis", State: admin.Noted, Says: says + ", which each request waits for", Do: "one that is nearer, or has less to do"}
	}
	return admin.Finding{Name: "redis", State: admin.Safe, Says: says}
}

func judgeRedisClock(ahead time.Duration) admin.Finding {
	says := fmt.Sprintf("the clocks of this machine and of Redis are %s apart", ahead.Abs().Round(time.Millisecond))
	if ahead.Abs() > maxClockAhead {
		return admin.Finding{Name: "redis_clock", State: admin.Noted, Says: says + ": windows go by its clock, and a failover to another one moves them", Do: "set both by NTP"}
	}
	return admin.Finding{Name: "redis_clock", State: admin.Safe, Says: says}
}

func judgeRedisWay(u *url.URL) admin.Finding {
	if u.Scheme == "redis" && !localName(u.Hostname()) {
		return admin.Finding{Name: "redis_tls", State: admin.Noted, Says: "the way to Redis is not encrypted: who can listen on it reads addresses and its password", Do: "rediss://, or a network of its own"}
	}
	return admin.Finding{Name: "redis_tls", State: admin.Safe, Says: "the way to Redis is encrypted, or does not leave this machine"}
}

// redisConn asks a server a few plain questions.
type redisConn struct {
	net.Conn
	in *bufio.Reader
}

func dialRedis(ctx context.Context, u *url.URL) (*redisConn, error) {
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	address := net.JoinHostPort(u.Hostname(), port)
	var c net.Conn
	var err error
	if u.Scheme == "rediss" {
		c, err = (&tls.Dialer{}).DialContext(ctx, "tcp", address)
	} else {
		c, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	if deadline, is := ctx.Deadline(); is {
		c.SetDeadline(deadline)
	}
	r := &redisConn{c, bufio.NewReader(c)}
	if password, is := u.User.Password(); is {
		words := slices.DeleteFunc([]string{"AUTH", u.User.Username(), password}, func(s string) bool { return s == "" })
		if _, err := r.ask(words...); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return r, nil
}

// ask sends a command and returns the strings of its answer.
func (r *redisConn) ask(words ...string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(r, b.String()); err != nil {
		return nil, err
	}
	return r.answer()
}

const maxRedisAnswer = 1 << 20

func (r *redisConn) answer() ([]string, error) {
	line, err := r.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty answer: is it Redis?")
	}
	n, failed := strconv.Atoi(line[1:])
	switch {
	case line[0] == '-':
		return nil, errors.New(line[1:])
	case line[0] == '+' || line[0] == ':':
		return []string{line[1:]}, nil
	case failed != nil || n > maxRedisAnswer:
	case line[0] == '$' && n < 0:
		return nil, nil
	case line[0] == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(r.in, text)
		return []string{string(text[:n])}, err
	case line[0] == '*':
		var all []string
		for range n {
			one, err := r.answer()
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	return nil, errors.New("an answer that is none of Redis")
}
