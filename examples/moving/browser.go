package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// browser follows redirects, keeps cookies, and fills in the sign-in page where it meets it.
type browser struct{ http.Client }

func newBrowser() *browser {
	jar, _ := cookiejar.New(nil) // it never fails
	return &browser{http.Client{Jar: jar}}
}

// open returns what stands at an address in the end.
func (b *browser) open(ctx context.Context, address string) (string, error) {
	text, at, err := b.do(ctx, http.MethodGet, address, nil)
	if err != nil || !strings.Contains(text, `name="password"`) {
		return text, err
	}
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(text, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	form.Set("username", username)
	form.Set("password", password)
	text, _, err = b.do(ctx, http.MethodPost, at.Scheme+"://"+at.Host+"/oauth/signin", form)
	return text, err
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

func (b *browser) do(ctx context.Context, method, address string, form url.Values) (string, *url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", nil, err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is answered %s: %s", resp.Request.URL, resp.Status, body)
	}
	return string(body), resp.Request.URL, err
}
