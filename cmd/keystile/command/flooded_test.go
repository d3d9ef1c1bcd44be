package command

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Requests that no rate counts, and those that are refused, fill no log, and how many they were is told.
func TestFloodOfRequestsByStrangersIsAFewLinesOfTheLog(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	token := ownToken(t, s)
	for _, path := range []string{"/.well-known/oauth-authorization-server/x", "/api/v1/quota", "/oauth/userinfo",
		"/nowhere"} {
		for range 500 {
			get(t, http.DefaultClient, s.base+path)
		}
	}
	for range 100 { // which net/http logs by itself
		get(t, http.DefaultClient, s.base+"/healthz/live?a;b")
	}
	for range 50 {
		wantStatus(t, s, "/api/v1/quota", token, 200)
	}
	s.stop()
	log := s.log.String()
	strangers, known, summed := 0, 0, 0
	for line := range strings.Lines(log) {
		switch {
		case strings.Contains(line, "more of the same"):
			summed++
		case strings.Contains(line, "msg=request ") && strings.Contains(line, "status=200") &&
			strings.Contains(line, "/api/v1/quota"):
			known++
		case strings.Contains(line, "msg=request "), strings.Contains(line, "semicolon"):
			strangers++
		}
	}
	if known != 50 {
		t.Errorf("%d lines of 50 requests with a token, want each", known)
	}
	if strangers > 600 || summed == 0 || summed > 20 {
		t.Errorf("%d lines and %d sums of 2,100 requests", strangers, summed)
	}
	if !regexp.MustCompile(`msg="more of the same" count=4[0-9]+ of=request method=GET path=\S+ status=404`).MatchString(log) {
		t.Error("how many answers of 404 there were is not told")
	}
}
