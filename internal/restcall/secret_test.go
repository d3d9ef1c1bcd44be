package restcall

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestUpstreamThatEchoesDoesNotTellTheSecret(t *testing.T) {
	secret := "s3cr3t/+value& and"
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if strings.HasSuffix(r.URL.Path, "401") {
			w.WriteHeader(401)
		}
		r.Write(w)
		_, password, _ := r.BasicAuth()
		io.WriteString(w, password)
	}
	u := serve(t, false, echo)
	for _, to := range []Upstream{
		{AuthType: "bearer", Secret: storage.NewSecret(secret)},
		{AuthType: "basic", Secret: storage.NewSecret("user:" + secret)},
		{AuthType: "api_key", AuthIn: "header", AuthName: "X-API-Key", Secret: storage.NewSecret(secret)},
		{AuthType: "api_key", AuthIn: "query", AuthName: "key", Secret: storage.NewSecret(secret)},
	} {
		for _, path := range []string{"/200", "/401"} {
			to.BaseURL = base + path
			tool := get
			tool.Call = &toolplan.Call{Template: path}
			r, err := u.caller(t, Config{}).Call(t.Context(), to, compile(t, tool), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := texts(r)
			for _, spelling := range []string{"s3cr3t", base64.StdEncoding.EncodeToString([]byte("user:" + secret))} {
				if strings.Contains(got, spelling) || !strings.Contains(got, "[secret]") {
					t.Errorf("%s %s: the answer is %q, want the secret redacted", to.AuthType, to.AuthIn, got)
				}
			}
		}
	}
	r, err := u.caller(t, Config{}).Call(t.Context(), Upstream{BaseURL: base, AuthType: "bearer",
		Secret: storage.NewSecret("GET")}, compile(t, get), nil)
	if err != nil || !strings.HasPrefix(texts(r), "GET /v1/x") {
		t.Errorf("with a secret as short as a word: %q, %v, want the answer as it is", texts(r), err)
	}
}

func TestSecretIsFoundInTheStringsOfJSON(t *testing.T) {
	for _, secret := range []string{`to"p<s>ecr\et`, "slash/slash/slash", "plus+plus plus"} {
		u := Upstream{BaseURL: base, AuthType: "basic", Secret: storage.NewSecret("user:" + secret)}
		c, err := u.Credential()
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(map[string]string{"sent": c.Text, "user": "user:" + secret, "password": secret})
		for _, echo := range []string{string(quoted), strings.ReplaceAll(string(quoted), "/", `\/`)} {
			if got := string(c.Redact([]byte(echo))); got != `{"password":"[secret]","sent":"Basic [secret]","user":"[secret]"}` {
				t.Errorf("%s: redacted it is %s", echo, got)
			}
		}
	}
}

func TestRequestDoesNotPrintItsSecret(t *testing.T) {
	to := Upstream{BaseURL: base, AuthType: "api_key", AuthIn: "query", AuthName: "key",
		Secret: storage.NewSecret("topsecret")}
	r, err := compile(t, get).Build(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%s"} {
		if text := fmt.Sprintf(verb, r) + fmt.Sprintf(verb, r.credential) +
			fmt.Sprintf(verb, to); strings.Contains(text, "topsecret") {
			t.Errorf("%s prints %q, want no secret", verb, text)
		}
	}
}
