package passwords

import (
	"strings"
	"testing"
)

func TestCommonPasswordsAreRefused(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(commonText, "\n"), "\n")
	if len(lines) != 10_000 {
		t.Fatalf("%d common passwords, want 10,000", len(lines))
	}
	for _, p := range []string{lines[0], lines[len(lines)-1], "password", "PASSWORD", "12345678", "qwertyuiop", "Trustno1",
		"iloveyou1"} {
		if err := Check(p); err != errCommon && err != errShort {
			t.Errorf("CheckPassword(%q) = %v, want errCommon", p, err)
		}
	}
	for i, line := range lines {
		if len(line) < 8 || line != strings.ToLower(line) || i > 0 && lines[i-1] >= line {
			t.Fatalf("line %d: %q is short, in upper case or out of order", i+1, line)
		}
	}
	for promise, c := range map[string]struct {
		password string
		known    []string
		want     error
	}{
		"eight characters":            {"xk2!vb9q", nil, nil},
		"eight characters of three":   {"密码很难猜到的呀", nil, nil},
		"seven":                       {"xk2!vb9", nil, errShort},
		"part of a common one":        {"passwor\nd", nil, nil},
		"two common ones":             {"password12345678x", nil, nil},
		"1,024 bytes":                 {strings.Repeat("x", 1024), nil, nil},
		"1,025":                       {strings.Repeat("x", 1025), nil, errLong},
		"no text":                     {"xk2!vb9\xff", nil, errLong},
		"the username":                {"Penelopeia", []string{"penelopeia"}, errKnown},
		"the address":                 {"pen@Example.com", []string{"", "pen@example.com"}, errKnown},
		"what stands before the @":    {"penelopeia", []string{"Penelopeia@example.com"}, errKnown},
		"nothing known is no match":   {"xk2!vb9q", []string{"", "@"}, nil},
		"more than the username":      {"penelopeia!", []string{"penelopeia"}, nil},
		"a common one and a username": {"12345678", []string{"12345678"}, errCommon},
	} {
		if err := Check(c.password, c.known...); err != c.want {
			t.Errorf("%s: CheckPassword() = %v, want %v", promise, err, c.want)
		}
	}
}
