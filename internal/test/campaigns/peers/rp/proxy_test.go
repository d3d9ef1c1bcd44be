package rp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/campaigns/program"
	"github.com/keystile/keystile/storage"
)

// The proxy lets nobody through who is not signed in, and tells the application behind it who they are.
func TestOAuth2Proxy(t *testing.T) {
	if testing.Short() {
		t.Skip("it links a program")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "oauth2-proxy")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/oauth2-proxy/oauth2-proxy/v7")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Header.Get("X-Forwarded-Email"), r.Header.Get("X-Forwarded-User"))
	}))
	defer behind.Close()
	// It believes what discovery lists, and has no HS256: id_token_algs lists ES256 too.
	site := agents.StartTLS(t, func(c *keystile.Config) { c.OAuth.IDTokenAlgs = []string{"HS256", "ES256"} })
	address := program.Free(t)
	app := site.App(t, storage.App{Domains: []string{address}, IDTokenAlg: "ES256"})
	here := "http://" + address
	program.Listening(t, address, program.Run(t, dir, binary, "--provider=oidc", "--oidc-issuer-url="+site.URL,
		"--client-id="+app.ID, "--client-secret="+app.AppKey().Reveal(),
		"--cookie-secret=0123456789abcdef", "--cookie-secure=false",
		"--email-domain=*",
		"--http-address="+address, "--redirect-url="+here+"/oauth2/callback", "--upstream="+behind.URL,
		"--provider-ca-file="+site.CertificateFile(t), "--skip-provider-button"))

	ada := site.Person()
	status, page, err := ada.Use(here + "/page")
	if err != nil || status != http.StatusOK || page != agents.Email+" "+site.Sub {
		t.Fatalf("behind the proxy = %d %q, %v", status, page, err)
	}
	status, page, err = ada.Use(here + "/oauth2/userinfo")
	if err != nil || status != http.StatusOK || !strings.Contains(page, agents.Email) {
		t.Errorf("its userinfo = %d %q, %v", status, page, err)
	}
	pages := len(ada.Pages())
	if status, _, err = ada.Use(here + "/oauth2/sign_out"); err != nil || status != http.StatusOK {
		t.Errorf("signing out = %d, %v", status, err)
	}
	// That is out of the proxy alone: the session of the service lets them in again.
	if more := len(ada.Pages()) - pages; more != 0 {
		t.Errorf("%d pages were shown, want none", more)
	}
}
