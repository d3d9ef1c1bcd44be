package command

import (
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
)

// redisURL is the address of the Redis server of the tests, with a prefix of keys that no other test has.
func redisURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv("KEYSTILE_TEST_REDIS_URL")
	if url == "" {
		t.Skip("KEYSTILE_TEST_REDIS_URL is not set: see .ci/redis")
	}
	return url + "?prefix=" + rand.Text()
}

func metricsOf(t *testing.T, s *service) string {
	t.Helper()
	resp, body := get(t, http.DefaultClient, "http://"+s.out.Find(t, s.ended, `Admin listener +(\S+)`)+"/metrics")
	if resp.StatusCode != 200 {
		t.Fatalf("metrics: %d", resp.StatusCode)
	}
	return body
}

// A request at one node counts at the other.
func TestNodesCountTogetherOnRedis(t *testing.T) {
	t.Parallel()
	url, counters := database.WithSchema(t), redisURL(t)
	one, two := t.TempDir(), t.TempDir()
	flags := []string{"--storage-url", url, "--redis-url", counters, "--base-url", "http://127.0.0.1", "--admin-listen",
		"127.0.0.1:0"}
	a := start(t, one, append(flags, "--node-name", "left")...)
	copyFile(t, filepath.Join(one, "master.key"), filepath.Join(two, "master.key"))
	b := start(t, two, append(flags, "--node-name", "right")...)
	through := 0
	for i := range 100 {
		node := []*service{a, b}[i%2]
		if resp, _ := get(t, http.DefaultClient,
			"http://"+node.address+"/.well-known/openid-configuration"); resp.StatusCode == 200 {
			through++
		}
	}
	if through != 60 {
		t.Errorf("%d requests of an address are admitted by two nodes in a minute, want 60", through)
	}
	metrics := metricsOf(t, b)
	for _, line := range []string{"keystile_nodes_live 2", "keystile_counters_alone 0",
		"keystile_counters_judged_alone_total 0"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// Two nodes report the requests that they let through and would refuse together.
func TestNodesInShadowReportWhatTheyWouldRefuseTogether(t *testing.T) {
	t.Parallel()
	url, counters := database.WithSchema(t), redisURL(t)
	one, two := t.TempDir(), t.TempDir()
	flags := []string{"--storage-url", url, "--redis-url", counters, "--base-url", "http://127.0.0.1", "--admin-listen",
		"127.0.0.1:0", "--limits-shadow", "address"}
	a := start(t, one, flags...)
	copyFile(t, filepath.Join(one, "master.key"), filepath.Join(two, "master.key"))
	b := start(t, two, flags...)
	for i := range 100 {
		node := []*service{a, b}[i%2]
		if resp, _ := get(t, http.DefaultClient,
			"http://"+node.address+"/.well-known/openid-configuration"); resp.StatusCode != 200 {
			t.Fatalf("request %d = %d", i, resp.StatusCode)
		}
	}
	sum := 0
	for _, s := range []*service{a, b} {
		_, text, _ := strings.Cut(metricsOf(t, s), `keystile_requests_shadowed_total{limit="address"} `)
		n, err := strconv.Atoi(strings.Split(text, "\n")[0])
		if err != nil || n == 0 {
			t.Errorf("a node reports %d, %v", n, err)
		}
		sum += n
	}
	if sum != 40 {
		t.Errorf("of 100 requests in a minute %d are reported, want 40", sum)
	}
	wantHealthPage(t, a, []string{`"requests let through over a rate","value":"address:`})
}

func TestRedisURLThatCannotBeMeantStopsTheStart(t *testing.T) {
	t.Parallel()
	wantFailure(t, 2, "begins with no redis://", "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--redis-url",
		"localhost:6379")
}

// A server that counts and is away refuses nobody.
func TestNodeStartsWithoutTheServerThatCounts(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--redis-url", "redis://127.0.0.1:1", "--admin-listen", "127.0.0.1:0")
	if resp, body := get(t, http.DefaultClient, s.base+"/healthz/ready"); resp.StatusCode != 200 {
		t.Errorf("ready: %d %s", resp.StatusCode, body)
	}
	authorize(t, s)
	if metrics := metricsOf(t, s); !strings.Contains(metrics, "keystile_counters_alone 1\n") {
		t.Error("the metrics do not say that it counts alone")
	}
}
