package cors_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/cors"
)

func TestOpenAnswerCostsNoAllocation(t *testing.T) {
	p, err := cors.New(cors.Config{Open: []string{"/api/v1/"}})
	if err != nil {
		t.Fatal(err)
	}
	h, r, values := http.Header{}, httptest.NewRequest("GET", "/api/v1/quota", nil), new(cors.Room)
	if n := testing.AllocsPerRun(100, func() { p.Headers(h, r, values) }); n != 0 ||
		h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v allocations, %v", n, h)
	}
}

// A handler that adds to a header of one request must not write into the memory of the next header.
func TestAddingToAHeaderLeavesTheOthers(t *testing.T) {
	p, _ := cors.New(cors.Config{Open: []string{"/"}})
	h := http.Header{}
	p.Headers(h, httptest.NewRequest("GET", "/", nil), new(cors.Room))
	h.Add("Access-Control-Allow-Origin", "https://a.example")
	if got := h.Get("Access-Control-Expose-Headers"); got != "*" {
		t.Errorf("Access-Control-Expose-Headers: %q", got)
	}
}
