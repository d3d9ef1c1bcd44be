package storage

import "context"

// WriteForTest writes documents as the typed methods do.
func (s *Store) WriteForTest(ctx context.Context, docs ...Doc) error {
	_, err := s.write(ctx, docs...)
	return err
}
