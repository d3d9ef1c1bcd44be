package formwords_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/formwords"
)

func TestFormIsToldWithoutItsSecrets(t *testing.T) {
	form := url.Values{
		"form": {"id"}, "do": {"create"}, "username": {"mallory"}, "role": {"admin"}, "password": {"hunter2"},
		"webhook_secret": {"hunter3"},
		"ids":            {"a", "b"}, "empty": {""}, "upstream_url": {"https://me:hunter4@api.example.com/x"},
		"note": {"x\u202e\r\n" + strings.Repeat("y", 500)},
	}
	said := fmt.Sprint(formwords.Of(form, func(name string) string { return "<" + name + ">" }))
	for _, want := range []string{"{<username> mallory}", "{<role> admin}", "{<ids> a, b}", "{<password> <(not shown)>}",
		"{<upstream_url> https://api.example.com/x}", "y…}"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, without %q", said, want)
		}
	}
	for _, bad := range []string{"hunter", "create", "empty", "\u202e", "\n", strings.Repeat("y", 201)} {
		if strings.Contains(said, bad) {
			t.Errorf("it says %q", bad)
		}
	}
}
