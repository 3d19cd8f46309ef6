# Debian packages. `cmake --build BUILD && cpack --config BUILD/CPackConfig.cmake` makes c63 (the programs), libc63-dev
# and, in a build with FFmpeg, c63-ffmpeg.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME c63)
set(CPACK_PACKAGE_VENDOR c63)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(C63_PACKAGE_MAINTAINER "c63 <c63@noreply.invalid>" CACHE STRING "Who makes packages: name and mail address")
set(CPACK_PACKAGE_CONTACT ${C63_PACKAGE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Programs Development)
if(C63_HAVE_FFMPEG)
  list(APPEND CPACK_COMPONENTS_ALL Modules)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME c63)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION video)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "encoder and decoder for Codec63, with tools to measure
 Encodes video for Codec63, the small codec of a university course on
 heterogeneous architectures, and decodes, compares, filters and looks at it.")

# The FFmpeg module is a separate package, because it depends on exactly the FFmpeg libraries that it was linked with.
# The programs also run without it. They recommend it, and apt installs recommended packages by default.
set(CPACK_DEBIAN_MODULES_PACKAGE_NAME c63-ffmpeg)
set(CPACK_DEBIAN_MODULES_PACKAGE_SECTION video)
set(CPACK_DEBIAN_MODULES_PACKAGE_ENHANCES "c63, libc63-dev")
set(CPACK_COMPONENT_MODULES_DESCRIPTION "reads video through FFmpeg for Codec63's tools
 The module that c63's programs and library load for input that is neither raw
 nor Y4M, and to write pictures as PNG and JPEG.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "python3 (>= 3.11), bubblewrap")  # needed by c63course and c63grade
if(C63_HAVE_FFMPEG)
  set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "python3 (>= 3.11), c63-ffmpeg (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "c63-ffmpeg (= ${PROJECT_VERSION})")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libc63-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "library of the Codec63 encoder and decoder
 Headers, the static library, a CMake package and a pkg-config file for
 programs that encode or decode Codec63, search motion, or filter.")

# This script adds what Debian requires in every package: a copyright file, a changelog, compressed manual pages.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_files.cmake)
set(CPACK_C63_SOURCE_DIR ${PROJECT_SOURCE_DIR})
include(CPack)
