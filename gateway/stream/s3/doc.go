// Package s3 ships streams to a store of objects that speaks the API of Amazon S3: that of Amazon, MinIO,
// Ceph, Garage, R2 and the like.
//
//	target, err := s3.New(s3.Config{
//		Region: "eu-central-1", Bucket: "trail", AccessKey: "AKIA...", SecretKey: storage.NewSecret(secret),
//	})
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{
//		Store: store, Stream: stream.Config{Target: target, MaxAge: time.Minute},
//	})
//
// A batch is an object, PREFIX/KEY.jsonl.gz. It is put as a whole or not at all, and once more under the same
// name with the same bytes where it is not known whether it was.
//
// # Choices
//
// It puts objects and does nothing else, so the key needs s3:PutObject on arn:aws:s3:::BUCKET/PREFIX/* and
// no other right: whoever finds it can add to what is there, and neither read nor remove it. Beside that, turn
// on versioning or object lock for the bucket, and what was put cannot be made undone by that either. It
// matters after a restore from a backup, too: the numbers of records are given out again then, and other
// objects may come under names that are taken.
//
// Requests are signed by AWS Signature Version 4 with the module of Amazon that does this alone. The hash of
// the body is signed, and Content-MD5 sent, which stores with object lock demand. A redirect is not
// followed: it says that the region or the endpoint is another one.
//
// The endpoint is the operator's, so it may be in a private network. Only that is let through.
package s3
