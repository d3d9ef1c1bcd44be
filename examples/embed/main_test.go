package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

var levels = map[string]bool{"on the service's own page": true, "on Keystile's page": false}

func TestAccountPageOfAUserOfTheService(t *testing.T) {
	v := arrive(t, false)
	v.get("/oauth/account", http.StatusOK)
	v.enter("ada", "analytical engine", http.StatusSeeOther)
	v.follow(http.StatusOK)
	if v.authorize(http.StatusFound); !strings.HasPrefix(v.to.String(), callback) {
		t.Fatalf("authorize leads to %s", v.to)
	}
	if page := v.get("/oauth/account", http.StatusOK); !strings.Contains(page, "Payroll") {
		t.Errorf("the page does not know the application: %s", page)
	}
	v.post("/oauth/account/access", url.Values{"app": {v.app.ID}}, http.StatusSeeOther)
	if page := v.get("/oauth/account", http.StatusOK); strings.Contains(page, "Payroll") {
		t.Errorf("the application is still there: %s", page)
	}
}

func TestUserOfTheServiceSignsInToAnApplication(t *testing.T) {
	for name, ownPage := range levels {
		t.Run(name, func(t *testing.T) {
			v := arrive(t, ownPage)
			if page := v.authorize(http.StatusOK); !strings.Contains(page, "Payroll") {
				t.Errorf("the page does not say where one is going: %s", page)
			}
			v.enter("ada", "a wrong password", http.StatusUnauthorized)
			v.enter("nobody", "analytical engine", http.StatusUnauthorized)
			v.enter("ada", "analytical engine", http.StatusSeeOther)
			v.follow(http.StatusFound)
			token := v.redeem()
			v.salary(token, http.StatusOK, "employee-ada earns")
			v.salary(token+"x", http.StatusUnauthorized, "")
			v.salary("", http.StatusUnauthorized, "")
		})
	}
}

// Users are administered where they are: the console has the rest.
func TestAdministratorOfTheServiceHasTheConsole(t *testing.T) {
	v := arrive(t, false)
	v.get("/oauth/account", http.StatusOK)
	v.enter("ada", "analytical engine", http.StatusSeeOther)
	if page := v.get("/console/apps", http.StatusOK); !strings.Contains(page, "Payroll") {
		t.Errorf("the console does not know the application: %s", page)
	}
	v.get("/console/audit", http.StatusOK)
	v.get("/console/users", http.StatusNotFound)
}

func TestPayrollLearnsWhatItsUserEarns(t *testing.T) {
	for name, ownPage := range levels {
		t.Run(name, func(t *testing.T) {
			v := arrive(t, ownPage)
			application := httptest.NewUnstartedServer(nil)
			_, port, _ := net.SplitHostPort(application.Listener.Addr().String())
			home := "http://localhost:" + port
			application.Config.Handler = payroll{v.origin, home, v.app}
			application.Start()
			t.Cleanup(application.Close)
			v.open(home+"/", http.StatusFound)
			v.get(v.to.RequestURI(), http.StatusOK)
			v.enter("ada", "analytical engine", http.StatusSeeOther)
			v.follow(http.StatusFound)
			back := v.to.String()
			if page := v.open(back, http.StatusOK); !strings.Contains(page, "employee-ada earns 1000") {
				t.Errorf("Payroll says %q", page)
			}
			v.open(back, http.StatusBadGateway) // a code is good for once
			v.open(strings.Replace(back, "state=", "state=x", 1), http.StatusBadRequest)
			v.open(home+"/else", http.StatusNotFound)
		})
	}
}

func TestSignedInUserIsNotPromptedUnlessTheApplicationRequestsIt(t *testing.T) {
	for name, ownPage := range levels {
		t.Run(name, func(t *testing.T) {
			v := arrive(t, ownPage)
			v.authorize(http.StatusOK)
			v.enter("ada", "analytical engine", http.StatusSeeOther)
			v.authorize(http.StatusFound)
			v.authorize(http.StatusOK, "prompt", "login")
			v.enter("ada", "analytical engine", http.StatusSeeOther)
			v.follow(http.StatusFound)
		})
	}
}

func TestUserWhoHasSignedOutSignsInAgain(t *testing.T) {
	for name, ownPage := range levels {
		t.Run(name, func(t *testing.T) {
			v := arrive(t, ownPage)
			v.authorize(http.StatusOK)
			v.enter("ada", "analytical engine", http.StatusSeeOther)
			v.post("/oauth/logout", nil, http.StatusOK)
			v.authorize(http.StatusOK)
		})
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	for _, on := range []string{"", "https://evil.example.com/", "//evil.example.com", "%zz",
		"\r\nLocation: https://evil.example.com"} {
		if to := onward(on); to != "/" && !strings.HasPrefix(to, "/oauth/authorize?") {
			t.Errorf("onward(%q) = %q, want the service's own authorize", on, to)
		}
	}
}

func TestServiceKeepsItsOwnPages(t *testing.T) {
	v := arrive(t, true)
	if page := v.get("/", http.StatusOK); !strings.Contains(page, "the service's own page") {
		t.Errorf("/ = %s, want the service's own page", page)
	}
	if document := v.get("/.well-known/openid-configuration", http.StatusOK); !strings.Contains(document,
		v.origin+"/oauth/token") {
		t.Errorf("discovery = %s, want the service's origin", document)
	}
}
