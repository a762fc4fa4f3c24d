"""What stands between a draft and its participants: checks, overrides, versions, previews."""
