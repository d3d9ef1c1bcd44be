module github.com/keystile/keystile/internal/test/campaigns/peers/provider

go 1.26.8

require github.com/luikyv/go-oidc v0.21.0

require (
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	github.com/google/uuid v1.6.0 // indirect
)
