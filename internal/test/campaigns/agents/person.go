package agents

import (
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Person uses a browser without JavaScript, signs in and allows what is asked. Make it with
// NewPerson.
type Person struct {
	// Choose changes the answer to a page of consent, for a person who allows less. nil: as the page has it.
	Choose func(form url.Values)

	Username string

	origin string
	client *http.Client

	mu    sync.Mutex
	pages []string
}

// NewPerson returns a Person at a browser that has visited nothing yet.
func NewPerson(origin string) *Person { return NewPersonBy(origin, http.DefaultTransport) }

// NewPersonBy returns a Person whose browser reaches the service by a transport.
func NewPersonBy(origin string, transport http.RoundTripper) *Person {
	jar, _ := cookiejar.New(nil)
	p := &Person{Username: Username, origin: origin}
	p.client = &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return p
}

// Pages returns the pages that were shown, from the first on.
func (p *Person) Pages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.pages...)
}

// Visit opens an address of the service and answers its pages. It returns where the browser is sent
// in the end, an address of an application that it does not open; "" if that is a page that says what
// was done with what the person has allowed.
func (p *Person) Visit(address string) (application string, err error) {
	allowed := false
	answer, err := p.client.Get(address)
	for range 10 {
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		answer.Body.Close()
		if err != nil {
			return "", err
		}
		next, err := p.next(answer, string(body), allowed)
		if err != nil || !strings.HasPrefix(next, p.origin+"/") {
			return next, err
		}
		allowed = allowed || strings.Contains(theForm(string(body)), `name="allow"`)
		if answer.StatusCode == http.StatusOK {
			answer, err = p.submit(next, string(body))
		} else {
			answer, err = p.client.Get(next)
		}
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("the browser is sent from page to page without an end")
}

// Read returns a page of the service that needs no answer.
func (p *Person) Read(address string) (page string, err error) {
	answer, err := p.client.Get(address)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s = %d: %s", address, answer.StatusCode, readable(string(body)))
	}
	return string(body), err
}

// Use opens an address of an application on this machine, and signs in where that leads to the service. It returns
// what the application answers in the end.
func (p *Person) Use(address string) (status int, page string, err error) {
	for range 10 {
		if strings.HasPrefix(address, p.origin+"/") {
			if address, err = p.Visit(address); err != nil {
				return 0, "", err
			}
		}
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			return 0, "", err
		}
		r.Header.Set("Accept", "text/html") // some refuse programs, where they lead browsers on
		answer, err := p.client.Do(r)
		if err != nil {
			return 0, "", err
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		answer.Body.Close()
		if err != nil {
			return 0, "", err
		}
		to, err := answer.Location()
		if err != nil {
			return answer.StatusCode, string(body), nil
		}
		address = to.String()
	}
	return 0, "", errors.New("the browser is sent from the application to the service without an end")
}

// Arrive opens an address of an application on this machine, as a browser that is sent there does.
func (p *Person) Arrive(application string) error {
	answer, err := p.client.Get(application)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		return fmt.Errorf("the application answers %d", answer.StatusCode)
	}
	return nil
}

// next returns where an answer leads: the target of its form, or of a redirect, "" if nothing is left to do.
func (p *Person) next(answer *http.Response, body string, allowed bool) (string, error) {
	if to, err := answer.Location(); err == nil && answer.StatusCode/100 == 3 {
		return to.String(), nil
	}
	p.mu.Lock()
	p.pages = append(p.pages, body)
	p.mu.Unlock()
	form := theForm(body)
	if answer.StatusCode == http.StatusOK && form == "" && allowed {
		return "", nil
	}
	if answer.StatusCode != http.StatusOK || form == "" {
		return "", fmt.Errorf("%s = %d, and nothing to fill in: %s", answer.Request.URL.Path, answer.StatusCode,
			readable(body))
	}
	return p.origin + attribute(tag.FindString(form), "action"), nil
}

// submit fills in a form and sends it as a browser does.
func (p *Person) submit(target, body string) (*http.Response, error) {
	form := theForm(body)
	values := url.Values{}
	for _, input := range inputs.FindAllString(form, -1) {
		kind, name := attribute(input, "type"), attribute(input, "name")
		choice := kind == "radio" || kind == "checkbox"
		if name == "" || choice && !checked.MatchString(input) {
			continue
		}
		value := attribute(input, "value")
		if choice && value == "" {
			value = "on"
		}
		values.Add(name, value)
	}
	switch {
	case strings.Contains(form, `name="password"`):
		values.Set("username", p.Username)
		values.Set("password", Password)
	case strings.Contains(form, `name="allow"`):
		values.Set("allow", "1")
		if p.Choose != nil {
			p.Choose(values)
		}
	}
	r, err := http.NewRequest(http.MethodPost, target, strings.NewReader(values.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", p.origin)
	return p.client.Do(r)
}

var (
	forms   = regexp.MustCompile(`(?s)<form\b.*?</form>`)
	tag     = regexp.MustCompile(`<form\b[^>]*>`)
	inputs  = regexp.MustCompile(`<input\b[^>]*>`)
	checked = regexp.MustCompile(`\schecked\b`)
	markup  = regexp.MustCompile(`(?s)<(head|style|script).*?</(head|style|script)>|<[^>]*>`)
)

// theForm returns the form to fill in: the one for a password, a consent or the code of a device, "" if
// there is none.
func theForm(body string) string {
	for _, wanted := range []string{`name="password"`, `name="allow"`, `id="user_code"`} {
		for _, form := range forms.FindAllString(body, -1) {
			if strings.Contains(form, wanted) {
				return form
			}
		}
	}
	return ""
}

func attribute(text, name string) string {
	m := regexp.MustCompile(`\s` + name + `="([^"]*)"`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// readable returns the text of a page.
func readable(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(markup.ReplaceAllString(body, " "))), " ")
}
