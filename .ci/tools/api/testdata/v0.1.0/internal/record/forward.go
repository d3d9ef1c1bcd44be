package forward // import "github.com/keystile/keystile/internal/record/forward"

type Fields struct{ _ struct{} }
