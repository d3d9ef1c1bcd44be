package config

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage/authn"
)

func TestSecondFactorIsOfferedUnlessItIsSaidOtherwise(t *testing.T) {
	c, err := Load(cli.Args{}, nil)
	if err != nil || c.MFA.Default != authn.MFAOffered || c.MFA.Roles != nil || c.MFA.Grace != 14*24*time.Hour {
		t.Errorf("by default it is %+v, %v", c.MFA, err)
	}
	c, err = Load(cli.Args{}, []string{"KEYSTILE_MFA_DEFAULT=off", "KEYSTILE_MFA_ADMIN=Required",
		"KEYSTILE_MFA_AUDITOR=offered", "KEYSTILE_MFA_GRACE=72h"})
	if err != nil || c.MFA.Default != authn.MFAOff || !maps.Equal(c.MFA.Roles,
		map[string]string{"admin": "required", "auditor": "offered"}) || c.MFA.Grace != 72*time.Hour {
		t.Errorf("it is %+v, %v", c.MFA, err)
	}
	if c, err = Load(cli.Args{}, []string{"KEYSTILE_MFA_GRACE=0"}); err != nil || c.MFA.Grace >= 0 {
		t.Errorf("no grace is %v, %v", c.MFA.Grace, err)
	}
	for text, want := range map[string]string{"KEYSTILE_MFA_DEFAULT=always": "off, offered, required",
		"KEYSTILE_MFA_DEVELOPER=yes": "off, offered, required", "KEYSTILE_MFA_GRACE=-1h": "must not be below 0",
		"KEYSTILE_MFA_GRACE=14": "a unit"} {
		if _, err := Load(cli.Args{}, []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v, want %q", text, err, want)
		}
	}
}
