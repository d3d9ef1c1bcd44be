package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/memory"
)

func TestUsersHaveAnAccountPage(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	h, err := newHost(t.Context(), "http://127.0.0.1:1", backend)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	for path, want := range map[string]int{"/oauth/account": 200, "/oauth/signin/consent": 405,
		"/oauth/account/everywhere": 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || want == 200 && !strings.Contains(w.Body.String(), `name="password"`) {
			t.Errorf("GET %s = %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

func TestAgentListsAndCalls(t *testing.T) {
	var output strings.Builder
	if err := run(t.Context(), &output); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"name":"sky__getWeather"`, `"description":"The weather in a city"`, `"enum":["C","F"]`,
		`"structuredContent":{"city":"São Paulo","degrees":70}`, `"isError":true`, `city`,
	} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the agent does not say %s:\n%s", want, &output)
		}
	}
}
