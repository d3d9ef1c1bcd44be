package registration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keystile/keystile/oauth/internal/clientname"
)

const good = `"redirect_uris":["https://agent.example/cb"]`

func TestRegistrationTakesFromMetadata(t *testing.T) {
	for body, want := range map[string]Metadata{
		`{` + good + `}`: {Grants: []string{GrantCode, GrantRefresh}},
		`{` + good + `,"grant_types":["authorization_code"]}`:   {Grants: []string{GrantCode, GrantRefresh}},
		`{` + good + `,"grant_types":null,"scope":null}`:        {Grants: []string{GrantCode, GrantRefresh}},
		`{` + good + `,"client_name":"A","scope":"openid x"}`:   {Name: "A", Scope: "openid x", Grants: []string{GrantCode, GrantRefresh}},
		`{` + good + `,"Client_Name":"A","x":[{"y":[1,null]}]}`: {Grants: []string{GrantCode, GrantRefresh}},
		` {` + good + `,"grant_types":["implicit","password","authorization_code","client_credentials"],"response_types":["token","code"]} `:                                                                                          {Grants: []string{GrantCode, GrantRefresh}},
		`{` + good + `,"token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{"kty":"oct","k":"secret"}]},"jwks_uri":"https://10.0.0.1/","logo_uri":"javascript:x","software_statement":"x.y.z","application_type":["odd"]}`: {Grants: []string{GrantCode, GrantRefresh}},
	} {
		want.RedirectURIs = []string{"https://agent.example/cb"}
		m, err := Read([]byte(body))
		if err != nil || fmt.Sprintf("%q", m) != fmt.Sprintf("%q", want) {
			t.Errorf("Read(%s) = %q, %v, want %q", body, m, err, want)
		}
	}
}

func TestRedirectURIRefusedDoesNotFailTheOthers(t *testing.T) {
	m, err := Read([]byte(`{"redirect_uris":["http://example.com/","https://u@agent.example/","cursor://x/cb","http://[::1]:1/","data:text/html,x","cursor://x/cb","https://agent.example/#f","https://agent.example/cb"]}`))
	if want := []string{"cursor://x/cb", "http://[::1]:1/", "https://agent.example/cb"}; err != nil ||
		!slices.Equal(m.RedirectURIs, want) {
		t.Errorf("%q, %v, want %q", m.RedirectURIs, err, want)
	}
}

func TestRegistrationRefuses(t *testing.T) {
	many := `"https://agent.example/0"`
	for i := range maxRedirects {
		many += fmt.Sprintf(`,"https://agent.example/%d"`, i+1)
	}
	for body, name := range map[string]string{
		``: InvalidClientMetadata, `[]`: InvalidClientMetadata, `"x"`: InvalidClientMetadata, `null`: InvalidClientMetadata, `{`: InvalidClientMetadata,
		`{` + good + `}{}`: InvalidClientMetadata, `{` + good + `,"x":1,"x":2}`: InvalidClientMetadata, "{" + good + ",\"client_name\":\"\xff\"}": InvalidClientMetadata,
		`{` + good + `,"client_name":1}`: InvalidClientMetadata, `{` + good + `,"scope":["openid"]}`: InvalidClientMetadata,
		`{` + good + `,"grant_types":"authorization_code"}`: InvalidClientMetadata, `{` + good + `,"grant_types":[]}`: InvalidClientMetadata,
		`{` + good + `,"grant_types":["client_credentials"]}`: InvalidClientMetadata, `{` + good + `,"response_types":[]}`: InvalidClientMetadata,
		`{` + good + `,"response_types":["token"]}`: InvalidClientMetadata, `{` + good + `,"token_endpoint_auth_method":{}}`: InvalidClientMetadata,
		`{` + good + `,"x":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`: InvalidClientMetadata,

		`{}`: InvalidRedirectURI, `{"redirect_uris":[]}`: InvalidRedirectURI, `{"redirect_uris":null}`: InvalidRedirectURI,
		`{"redirect_uris":"https://agent.example/cb"}`: InvalidRedirectURI, `{"redirect_uris":["https://agent.example/cb",1]}`: InvalidRedirectURI,
		`{"redirect_uris":["http://10.0.0.1/cb"]}`: InvalidRedirectURI, `{"redirect_uris":["javascript:alert(1)"]}`: InvalidRedirectURI,
		`{"redirect_uris":["https://` + strings.Repeat("x", 3000) + `"]}`: InvalidRedirectURI, `{"redirect_uris":[` + many + `]}`: InvalidRedirectURI,
		`{"redirect_uris":["http://agent.example/"],"grant_types":["` + GrantDevice + `"]}`: InvalidRedirectURI,
	} {
		_, err := Read([]byte(body))
		refused, ok := errors.AsType[*Refusal](err)
		if !ok || refused.Name != name || refused.Reason == "" || len(refused.Reason) > 400 ||
			strings.ContainsFunc(refused.Reason, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("Read(%.80s) = %v, want %s", body, err, name)
		}
	}
}

func TestNameIsOneLineOfWhatIsSeen(t *testing.T) {
	for claimed, want := range map[string]string{
		"Agent": "Agent", "  A\n\tB ": "A B", "evil\u202egnp.exe": "evilgnp.exe", "a\u200bb\u0000c\x1b[31m": "abc[31m",
		"\u2066\u2069": "", "\U000e0041": "",
		"智能体": "智能体", "👩‍💻 Coder": "👩‍💻 Coder", strings.Repeat("x", 500): strings.Repeat("x", 80),
		strings.Repeat("智", 500): strings.Repeat("智", 66),
	} {
		got := clientname.Clean(claimed)
		if got != want || len(got) > clientname.Max || !utf8.ValidString(got) || clientname.Clean(got) != got {
			t.Errorf("Clean(%+q) = %+q, want %+q", claimed, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{` + good + `,"client_name":"x"}`))
	f.Add([]byte(`{"redirect_uris":["cursor://a/b","http://127.0.0.1:1/"],"grant_types":["` + GrantDevice + `"],"response_types":["code"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := Read(body)
		switch refused, ok := errors.AsType[*Refusal](err); {
		case err != nil && (!ok || refused.Reason == ""):
			t.Fatalf("refused without a reason: %v", err)
		case err == nil && (len(m.Grants) < 2 || len(m.RedirectURIs) == 0 && slices.Contains(m.Grants, GrantCode) ||
			len(m.Name) > clientname.Max):
			t.Fatalf("taken: %q", m)
		}
	})
}
