"""reach-place and reach-follow: where a base stands best, and how it drives along."""
