package filehost

import "context"

// FilesOf returns the ids of the files of a post that the user may read, or NotFound.
func (s *Service) FilesOf(ctx context.Context, userID, postID string) ([]string, error) {
	post, err := s.Mattermost.ReadPost(ctx, postID)
	if err != nil {
		return nil, err
	}
	if err = s.Mattermost.MayRead(ctx, userID, post.ChannelID); err != nil {
		return nil, err
	}
	if len(post.FileIDs) == 0 {
		return nil, E(NotFound, "The message has no files.", nil)
	}
	return post.FileIDs, nil
}
