package command

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/internal/resp"
)

func TestRedisOfSeveralNodesIsChecked(t *testing.T) {
	address := os.Getenv("KEYSTILE_TEST_REDIS_URL")
	if address == "" {
		t.Skip(`KEYSTILE_TEST_REDIS_URL is not set: eval "$(.ci/redis start DIR)" starts a server for tests`)
	}
	args := append(slices.Clone(behindBalancer), "--data", privateFolder(t), "--redis-url", address)
	c := checkStorage(t, args...)
	for _, name := range []string{"redis", "redis_clock", "redis_tls", "redis_memory"} {
		c.want(t, name, admin.Safe)
	}
	r := dialRedis(t, address)
	set := func(name, value string) {
		if _, err := r.Do(time.Now().Add(time.Minute), "CONFIG", "SET", name, value); err != nil {
			t.Fatal(err)
		}
	}
	set("maxmemory-policy", "volatile-lru")
	defer set("maxmemory-policy", "noeviction")
	checkStorage(t, args...).want(t, "redis_memory", admin.Unsafe, "volatile-lru", "noeviction")
	set("requirepass", "another")
	defer set("requirepass", "")
	args[len(args)-1] = strings.Replace(address, "redis://", "redis://:opensesame@", 1)
	c = checkStorage(t, args...)
	c.want(t, "redis", admin.Unsafe, "WRONGPASS")
	if strings.Contains(c.by["redis"].Says, "opensesame") {
		t.Errorf("it shows a password: %v", c.by["redis"])
	}
}

func dialRedis(t *testing.T, address string) *resp.Conn {
	t.Helper()
	target, err := resp.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := resp.Dial(t.Context(), target, target.Addresses[0], time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestRedisThatIsNotThereOrNotFitIsFound(t *testing.T) {
	args := append(slices.Clone(behindBalancer), "--data", privateFolder(t))
	checkStorage(t, append(args, "--nodes", "2")...).want(t, "redis", admin.Noted, "each of 2 nodes counts by itself")
	if _, said := checkStorage(t, args...).by["redis"]; said {
		t.Error("one node is told to have a Redis")
	}
	checkStorage(t, append(args, "--redis-url", "redis://127.0.0.1:1")...).want(t, "redis", admin.Unsafe, "refused",
		"keeps its share")
	for _, c := range []struct {
		version string
		took    time.Duration
		want    admin.State
	}{{"7.0.15", time.Millisecond, admin.Safe}, {"8.1.0", time.Millisecond, admin.Safe},
		{"6.2.1", time.Millisecond, admin.Unsafe}, {"7.2.0", 51 * time.Millisecond, admin.Unsafe},
		{"7.2.0", 20 * time.Millisecond, admin.Noted}} {
		if f := judgeRedis("# Server\r\nredis_version:"+c.version+"\r\nos:x\r\n", c.took); f.State != c.want {
			t.Errorf("%v is %+v", c, f)
		}
	}
	for ahead, want := range map[time.Duration]admin.State{0: admin.Safe, -4 * time.Second: admin.Safe,
		6 * time.Second: admin.Noted, -time.Hour: admin.Noted} {
		if f := judgeRedisClock(ahead); f.State != want {
			t.Errorf("%v apart is %+v", ahead, f)
		}
	}
	for address, want := range map[string]admin.State{"redis://127.0.0.1": admin.Safe,
		"redis://cache.example.com": admin.Noted, "rediss://cache.example.com": admin.Safe,
		"unix:///run/redis.sock": admin.Safe} {
		target, err := resp.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if f := judgeRedisWay(target); f.State != want {
			t.Errorf("%s is %+v", address, f)
		}
	}
}
