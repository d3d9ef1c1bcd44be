package restcall

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

func secretHeaders(pairs ...string) map[string]storage.Secret {
	headers := map[string]storage.Secret{}
	for i := 0; i < len(pairs); i += 2 {
		headers[pairs[i]] = storage.NewSecret(pairs[i+1])
	}
	return headers
}

// They go with each request, whatever the credential is; no argument sets or adds to one.
func TestSecretHeadersGoWithEachCall(t *testing.T) {
	u := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		r.Header.Write(w)
	})
	tool := tool("get", "/x", "", []string{"a", "b"},
		map[string]arg{"a": {`{"type":"string"}`, toolplan.Param{Arg: "a", Name: "x_tenant_key", In: "header"}},
			"b": {`{"type":"string"}`, toolplan.Param{Arg: "b", Name: "X-Own", In: "header"}}})
	for _, to := range []Upstream{
		{}, {AuthType: "bearer", Secret: storage.NewSecret("bearer-secret")},
		{AuthType: "api_key", AuthIn: "query", AuthName: "key", Secret: storage.NewSecret("query-secret")},
	} {
		spelt := "x_tenant_key" // as the document has it
		to.BaseURL, to.Headers = base, secretHeaders("x-tenant-key", "tenant-secret", "CF-Access-Client-Id",
			"cloud-secret")
		for _, to := range []Upstream{to, to.Prepared()} {
			r, err := u.caller(t, Config{}).Call(t.Context(), to, compile(t, tool), raw(`{"a":"forged","b":"own"}`))
			if err != nil {
				t.Fatal(err)
			}
			header := u.seen[len(u.seen)-1].header
			if header.Get("X-Tenant-Key") != "tenant-secret" || header.Get("Cf-Access-Client-Id") != "cloud-secret" ||
				header.Get("X-Own") != "own" || header[spelt] != nil {
				t.Errorf("%s: sent %v", to.AuthType, header)
			}
			if got := texts(r); strings.Contains(got, "-secret") || strings.Count(got, "[secret]") < 2 ||
				strings.Contains(got, "forged") {
				t.Errorf("%s: the answer is %q", to.AuthType, got)
			}
		}
		request, err := compile(t, tool).Build(to, raw(`{"b":"own"}`))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%v %+v %s %v %+v", request, request, request, to, to); strings.Contains(text,
			"-secret") {
			t.Errorf("printed are %s", text)
		}
	}
}

func TestPasswordWithinASecretHeaderIsNotShown(t *testing.T) {
	u := serve(t, false, answers(200, "user:passw0rd-1 or passw0rd-1, dXNlcjpwYXNzdzByZC0x", "Content-Type",
		"text/plain"))
	to := Upstream{BaseURL: base, Headers: secretHeaders("Authorization", "basic dXNlcjpwYXNzdzByZC0x")}
	r, err := u.caller(t, Config{}).Call(t.Context(), to, compile(t, get), nil)
	if err != nil || texts(r) != "[secret] or [secret], [secret]" {
		t.Errorf("%q, %v", texts(r), err)
	}
}

// A redirect is not followed, so they go nowhere else.
func TestSecretHeadersAreNotSentAfterARedirect(t *testing.T) {
	elsewhere := 0
	u := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "api.example.test" {
			elsewhere++
		}
		http.Redirect(w, r, "http://elsewhere.example.test/", http.StatusTemporaryRedirect)
	})
	r, err := u.caller(t, Config{}).Call(t.Context(), Upstream{BaseURL: base,
		Headers: secretHeaders("X-A", "tenant-secret")}, compile(t, get), nil)
	if err != nil || !r.IsError || elsewhere != 0 || len(u.seen) != 1 {
		t.Errorf("%q %v, asked %d times, %d elsewhere", texts(r), err, len(u.seen), elsewhere)
	}
}
