package signin

import (
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/apikeys"
	"github.com/keystile/keystile/oauth/signin/internal/deletion"
	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/kept"
	"github.com/keystile/keystile/oauth/signin/internal/mydata"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
)

// keptActs says what the forms of an account do that are kept until their user has confirmed who they are. The forms
// that link a provider are told by their path, which names it.
var keptActs = map[string]kept.Act{
	apikeys.Path:             "Make an API key",
	mydata.Path:              "Download your data",
	deletion.Path:            "Delete your account",
	account.LoginPath:        "Unlink a way to sign in",
	otp.LinkFlow.Path:        "Confirm an email address",
	newpassword.Path:         "Change your password",
	enrol.AppPath:            "Set up an authenticator app",
	enrol.RemovePath:         "Remove the authenticator app",
	enrol.CodesPath:          "Make new recovery codes",
	enrol.ForgetPath:         "Forget the trusted browsers",
	passkey.Path:             "Add a passkey",
	passkey.Path + "/rename": "Rename a passkey",
	passkey.Path + "/end":    "Remove a passkey",
}
