package claim // import "github.com/keystile/keystile/storage/claim"

const AttributeForm = "1 to 32 of a-z 0-9 _, the first a letter"

func Check(rules []Rule) error

func CheckAttributeNames(names []string) error

func CheckAttributes(all map[string]string) error

func CheckName(name string) error

func CheckPattern(pattern string) error

const InIDToken = "id_token"

const InIntrospection = "introspection"

const InUserInfo = "userinfo"

func IsAttribute(name string) bool

func Matching(names []string, patterns ...string) []string

const MaxAttribute = 1024

const MaxAttributes = 32

const MaxClaims = 4096

const MaxRules = 32

func NeedGroups(rules []Rule) bool

func Of(rules []Rule, in string, scopes []string, u User) map[string]any

func Parse(text []byte) ([]Rule, error)

func Reserved(name string) bool

type Rule struct {
	Claim string   "json:\"claim\""
	From  string   "json:\"from\""
	Scope string   "json:\"scope,omitempty\""
	In    []string "json:\"in,omitempty\""
}

type User struct {
	Attributes map[string]string
	Groups     []string
	Fields     map[string]any
}
