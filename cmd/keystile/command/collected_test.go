package command

import (
	"net/http"
	"regexp"
	"testing"
)

// The collector is held back during a start, which is no business of a server that listens.
func TestServerThatListensCollectsGarbageAsItIsTold(t *testing.T) {
	set := regexp.MustCompile(`(?m)^go_gc_gogc_percent (\S+)$(?s:.*)^go_gc_gomemlimit_bytes (\S+)$`)
	for told, want := range map[string][2]string{
		"": {"100", "9.223372036854776e+18"}, "GOGC=50": {"50", "9.223372036854776e+18"},
		"GOMEMLIMIT=1GiB": {"100", "1.073741824e+09"},
	} {
		s := serveIn(t, t.TempDir(), "KEYSTILE_ADMIN_LISTEN=127.0.0.1:0", "GOGC=", "GOMEMLIMIT=", told)
		admin := s.child.out.Find(t, s.child.ended, `Admin listener +(\S+)`)
		_, text := get(t, http.DefaultClient, "http://"+admin+"/metrics")
		found := set.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("the metrics do not say: %s", text)
		}
		if got := [2]string(found[1:]); got != want {
			t.Errorf("with %q it collects at %s %% and %s bytes, want %s and %s", told, got[0], got[1], want[0], want[1])
		}
	}
}
