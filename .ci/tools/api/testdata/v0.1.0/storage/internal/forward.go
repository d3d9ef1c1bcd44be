package forward // import "github.com/keystile/keystile/storage/internal/forward"

type Fields struct{ _ struct{} }
