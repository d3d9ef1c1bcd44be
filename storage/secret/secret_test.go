package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretCannotBeShownByAccident(t *testing.T) {
	const text = "s3cr3t-s3cr3t"
	type dated struct{ Secret Secret }
	type client struct {
		ID      string
		Secrets []dated
	}
	app := client{ID: "a", Secrets: []dated{{New(text)}}}
	type holder struct{ hidden Secret } // fmt cannot call String on it
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "app", app, "secret", app.Secrets[0].Secret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "app", app, "secret", app.Secrets[0].Secret)
	j, err := json.Marshal(map[string]any{"app": app, "secret": app.Secrets[0].Secret})
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(j)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{app, app.Secrets, holder{app.Secrets[0].Secret}, &app} {
			shown += fmt.Sprintf(verb, v)
		}
	}
	if strings.Contains(shown, text) || strings.Contains(shown, fmt.Sprintf("%x", text)) {
		t.Errorf("the secret is shown: %s", shown)
	}
}

func TestSecretsCompare(t *testing.T) {
	s := New("abc")
	for text, want := range map[string]bool{"abc": true, "abd": false, "ab": false, "abcd": false, "": false} {
		if got := s.Equal(text); got != want {
			t.Errorf("Equal(%q) = %t, want %t", text, got, want)
		}
	}
	if (Secret{}).Equal("") || New("").Equal("") {
		t.Error("no secret equals the empty text")
	}
}
