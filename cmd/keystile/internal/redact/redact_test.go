package redact

import "testing"

func TestRedactHidesThePasswordOfAnAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://user:pw@host/path":                      "http://[secret]@host/path",
		"http://token@host":                             "http://[secret]@host",
		"http://user:p/w@host":                          "http://[secret]@host",
		"http://user:p w@host":                          "http://[secret]@host",
		"http://user:p@w@host":                          "http://[secret]@host",
		"http://user:pw%40host":                         "http://[secret]%40host",
		"http://user:pw":                                "http://user:[secret]",
		"http//user:pw@host":                            "http//[secret]@host",
		"http:/user:pw@host":                            "http:[secret]@host",
		"//user:pw@host":                                "//[secret]@host",
		"user:pw@host":                                  "user:[secret]@host",
		"user%3Apw@host":                                "user%3A[secret]@host",
		"ai=http://127.0.0.1:9000/v1, b=http://u:p@h/":  "ai=http://127.0.0.1:9000/v1, b=http://[secret]@h/",
		"redis://host:6379/0?password=pw&db=1":          "redis://host:6379/0?password=[secret]&db=1",
		"host=db password='p w' dbname=x":               "host=db password=[secret] dbname=x",
		"http://127.0.0.1:9000/@scope/x":                "http://127.0.0.1:9000/@scope/x",
		"http://[::1]:80/a@b":                           "http://[::1]:80/a@b",
		"127.0.0.1:8080":                                "127.0.0.1:8080",
		"10.1.0.0/16, vault.internal:8200, [fd00::1]:9": "10.1.0.0/16, vault.internal:8200, [fd00::1]:9",
		"Example <id@example.com>":                      "Example <id@example.com>",
		"https://id.example.com":                        "https://id.example.com",
		"keystile-data":                                 "keystile-data",
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestMessageRepeatsNoPassword(t *testing.T) {
	if got, want := Message(`parse "redis://u:pw@host:x": invalid port ":x"; see https://example.com`), `parse "redis://[secret]@host:x": invalid port ":x"; see https://example.com`; got != want {
		t.Errorf("Message() = %q, want %q", got, want)
	}
	for _, c := range []struct {
		message, text string
		want          bool
	}{
		{`"mark@host" is no address`, "http://user:secret,mark@host", true},
		{"it has no user, query or fragment", "http://user:pw@host", false},
		{`invalid port ":pw" after host`, "http://user:pw", true},
		{"it is `!!!`", "http://user:!!!@host", true},
		{`"user%3Amark@host" is no address`, "user%3Amark@host", true},
		{`"\x01mark" is no address`, "http://user:\x01mark@host", true},
		{"it is a number from 1", "x", false},
	} {
		if got := Repeats(c.message, c.text); got != c.want {
			t.Errorf("Repeats(%q, %q) = %t", c.message, c.text, got)
		}
	}
}
