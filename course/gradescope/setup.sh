#!/usr/bin/env bash
# Installs heed in Gradescope's image, whose base must be Debian 12. Zip the two files of this folder, and upload them as
# the autograder. course/teaching.md explains it.
set -euo pipefail
repository=https://github.com/YOUR_NAME/heed  # where the class gets heed from
version=main                                  # a tag or a branch of it

apt-get update
apt-get install -y git
git clone --depth 1 --branch "$version" "$repository" /opt/heed
ln -sf /opt/heed/heed /usr/local/bin/heed
heed --yes course check --answers /opt/heed || true  # builds what grades answers; there are none yet
