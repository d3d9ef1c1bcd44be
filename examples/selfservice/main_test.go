package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func TestUsersHaveAnAccountPage(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(t.Context(), "127.0.0.1:1", store)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close(t.Context())
	for path, want := range map[string]int{"/oauth/account": 200, "/oauth/signin/consent": 405,
		"/oauth/account/everywhere": 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || want == 200 && !strings.Contains(w.Body.String(), `name="password"`) {
			t.Errorf("GET %s = %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

func TestServiceIsItsOwnTool(t *testing.T) {
	var output strings.Builder
	if err := run(t.Context(), &output); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"keystile__get_quota: How many calls the application has left",
		`"structuredContent":{"code":1,"msg":"success","data":{"tier":"white_label","quota":{"calls_remaining":50000,`, // the Shop's, not the Agent's
		`"granularity":"day"`,
	} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("it does not say %s:\n%s", want, &output)
		}
	}
	for _, never := range []string{"isError", "keystile__send_mcp_message", "keystile__issue_token",
		"keystile__register_capability"} {
		if strings.Contains(output.String(), never) {
			t.Errorf("it says %s:\n%s", never, &output)
		}
	}
}
