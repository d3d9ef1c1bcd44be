package command

import (
	"strings"
	"testing"
)

func TestOperatorLetsAnAddressInAgain(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--login-lock-failures", "2")
	admin := firstRunOf(t, s.data).Admin
	for i, want := range []int{401, 401, 429} {
		if resp, body := enter(t, s, admin.Username, "wrong horse", ""); resp.StatusCode != want {
			t.Errorf("failure %d = %d %.200s", i+1, resp.StatusCode, body)
		}
	}
	if resp, _ := enter(t, s, admin.Username, admin.Password, ""); resp.StatusCode != 429 {
		t.Errorf("while it is locked = %d", resp.StatusCode)
	}
	if v := must(t, "lockout", "clear", "127.0.0.1", "--data", s.data); v["cleared"] != true {
		t.Errorf("clear says %v", v)
	}
	signIn(t, s)
	if v := must(t, "lockout", "clear", "127.0.0.1", "--data", s.data); v["cleared"] != false {
		t.Errorf("once more it says %v", v)
	}
	s.stop()
	wantFailure(t, 1, "no server runs", "lockout", "clear", "127.0.0.1", "--data", s.data)
	if _, trail, _ := command(t, "", "audit", "export", "--data", s.data); !strings.Contains(trail,
		"lockout clear 127.0.0.1") {
		t.Error("it is not on the trail")
	}
}
