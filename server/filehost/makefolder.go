package filehost

import "context"

// NewFolder asks for a folder at the host.
type NewFolder struct {
	Parent Ref
	Name   string
}

// MakeFolder makes a folder in one that exists. It fails with Conflict when there is an entry of that name.
func (s *Service) MakeFolder(ctx context.Context, userID string, folder NewFolder) (entry Entry, err error) {
	event := AuditEvent{Action: AuditMakeFolder}
	event.name(folder.Parent)
	err = s.using(ctx, event, func(ctx context.Context) error {
		entry, err = s.makeFolder(ctx, userID, folder)
		return err
	}, nil)
	return entry, err
}

func (s *Service) makeFolder(ctx context.Context, userID string, folder NewFolder) (entry Entry, err error) {
	if err = checkNewName("name", folder.Name); err != nil {
		return Entry{}, err
	}
	parent, err := s.folderToFill(ctx, userID, folder.Parent)
	if err != nil {
		return Entry{}, err
	}
	path, _ := parent.Path.Join(folder.Name) // which has been checked
	err = s.asUser(ctx, userID, func(credential Credential) error {
		entry, err = s.Remote.MakeFolder(ctx, credential, path)
		return err
	})
	return entry, err
}
