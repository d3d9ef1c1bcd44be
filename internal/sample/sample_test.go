package sample

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

type nowhere struct{}

var errLeft = errors.New("it left the process")

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errLeft }

func TestSampleIsAnsweredInTheProcessAndOthersAreHandedOn(t *testing.T) {
	client := http.Client{Transport: Transport(nowhere{})}
	for _, c := range []struct {
		method, url, body string
		status            int
		says              string
	}{
		{"GET", "https://" + Host + "/books?q=SEA", "", 200, `"books":[{"id":1,`},
		{"GET", "https://" + Host + "/books?q=nothing", "", 200, `{"books":[]}`},
		{"GET", "http://" + Host + ":8080/books/2", "", 200, "Jane Austen"},
		{"GET", "https://" + Host + "/books/4", "", 404, "no such book"},
		{"GET", "https://" + Host + "/books/-1", "", 404, "no such book"},
		{"POST", "https://" + Host + "/orders", `{"book":3,"copies":2}`, 200, `"copies":2`},
		{"POST", "https://" + Host + "/orders", `{"book":99}`, 400, "1, 2 or 3"},
		{"POST", "https://" + Host + "/orders", strings.Repeat(" ", 1<<20) + `{"book":1}`, 400, "1, 2 or 3"},
		{"POST", "https://" + Host + "/orders", "", 400, "1, 2 or 3"},
		{"DELETE", "https://" + Host + "/books/1", "", 405, "Method"},
		{"GET", "https://" + Host + "/", "", 404, "404"},
	} {
		r, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s %s = %d %s, want %d and %s", c.method, c.url, answer.StatusCode, text, c.status, c.says)
		}
	}
	for _, url := range []string{"https://x." + Host + "/books", "https://" + Host + ".example/books",
		"https://a.example/"} {
		if _, err := client.Get(url); !errors.Is(err, errLeft) {
			t.Errorf("%s is answered here: %v", url, err)
		}
	}
}
