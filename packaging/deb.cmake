# Makes the package of what packaging/release.sh has put into a folder, which is the root of the system in it:
#   cpack --config packaging/deb.cmake -D CPACK_INSTALLED_DIRECTORIES="FOLDER;/" -D CPACK_PACKAGE_VERSION=… \
#     -D CPACK_DEBIAN_PACKAGE_MAINTAINER=… -D CPACK_PACKAGE_DIRECTORY=OUTPUT
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heed)
set(CPACK_PACKAGE_FILE_NAME heed)  # of the folder it works in
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "train small Transformers on a CPU from config files")
set(CPACK_PACKAGE_DESCRIPTION
"heed trains small Transformers on a CPU. A TOML file describes an experiment,
and heed makes it a folder with the weights, the metrics and what repeats it.
The programs are linked statically and have kernels for three kinds of
processor. The static libraries and headers are for programs in C++20.")
# The programs need nothing; these are for programs that use the library.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libfmt-dev, libopenblas-openmp-dev, zlib1g-dev, pkgconf | pkg-config, cmake")
