package access_test

import (
	"fmt"

	"github.com/keystile/keystile/storage/access"
)

func Example() {
	list := access.List{Member: "shop", Rules: []access.Rule{
		{Subject: "role:developer"},
		{Subject: "app:ks1", ReadOnly: true},
		{Subject: "user:ux1", Deny: true, Tools: []string{"deleteOrder"}},
	}}
	fmt.Println(list.Check())
	_, err := access.ParseSubject("role:owner")
	fmt.Println(err)
	// Output:
	// <nil>
	// storage: invalid: subject: "role:owner" is no role; it is role:admin, role:developer or role:auditor
}
