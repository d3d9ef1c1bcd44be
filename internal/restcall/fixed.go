package restcall

import "strings"

// Fixed holds the parameters that are set whatever the arguments of a call say. The registrar makes no arguments
// of them: one that is required could never be given, and a model would be asked for a key.
type Fixed struct {
	query   holders
	cookies *holders
	headers Credential // without the secrets
}

// Fixed returns what the URL and the credential of an upstream set. It needs no secret.
func (u Upstream) Fixed() *Fixed {
	f := &Fixed{}
	if r := u.reading(); r.base != nil {
		f.holdQuery(r.base.RawQuery)
	}
	var c Credential
	switch u.AuthType {
	case "bearer", "basic":
		c.Header = "Authorization"
	case "api_key":
		c, _ = u.apiKey(u.Secret.Reveal())
	}
	if c.Query != "" {
		f.query.hold(c.Query, byCredential)
	}
	f.headers, f.cookies = c, cookiesOf(c)
	for name := range u.Headers {
		f.headers.more = append(f.headers.more, sentHeader{name: name})
	}
	return f
}

// FixedQuery returns what the query of a template sets.
func FixedQuery(template string) *Fixed {
	f := &Fixed{}
	if _, query, is := strings.Cut(template, "?"); is {
		query, _, _ = strings.Cut(query, "#")
		f.holdQuery(query)
	}
	return f
}

func (f *Fixed) holdQuery(query string) {
	for name := range queryPairs(query) {
		f.query.hold(name, byUpstream)
	}
}

// By says what sets a parameter of a place: "the credential", "the URL" or, if nothing does, "". The
// fields of a form are looked up as "query", because many servers read both as one.
func (f *Fixed) By(in, name string) string {
	if f == nil {
		return ""
	}
	by := byNobody
	switch in {
	case "query":
		by = f.query.other(name, byNobody)
	case "cookie":
		by = f.cookies.other(name, byNobody)
	case "header":
		if f.headers.sets(name) != "" {
			by = byCredential
		}
	}
	switch by {
	case byNobody:
		return ""
	case byUpstream:
		return "the URL"
	}
	return "the credential"
}
