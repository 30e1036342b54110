package filehost

import "context"

// AttachLimits are what one request to attach takes, whoever sets it: Mattermost or this plugin's settings.
type AttachLimits struct {
	Files      int
	FileBytes  int64 // of each file
	TotalBytes int64 // of all files together
}

// AttachLimits tells the limits before somebody chooses files that are beyond them.
func (s *Service) AttachLimits(ctx context.Context) (AttachLimits, error) {
	limits, err := s.Limits(ctx)
	if err != nil {
		return AttachLimits{}, err
	}
	return AttachLimits{
		Files:      min(s.Settings.MaxFiles, limits.FilesPerPost),
		FileBytes:  min(s.Settings.MaxCopyBytes, limits.FileSize),
		TotalBytes: s.Settings.MaxCopyBytes,
	}, nil
}
